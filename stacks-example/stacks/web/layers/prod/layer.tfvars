servers = ["www", "api"]
