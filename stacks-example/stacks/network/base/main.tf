resource "terraform_data" "network" {
  input = { cidr = var.cidr, owner = var.owner }
}

output "cidr" {
  value = terraform_data.network.output.cidr
}
