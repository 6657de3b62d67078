servers = ["www"]
