data "terraform_remote_state" "network" {
  backend = "local"
  config = {
    path = "{{ var.stacks_root }}/state/network-{{ var.stacks_layer }}.tfstate"
  }
}

resource "terraform_data" "server" {
  for_each = toset(var.servers)
  input = {
    name    = "${each.key}.${var.domain}"
    network = data.terraform_remote_state.network.outputs.cidr
  }
}
