domain = "example.com"
