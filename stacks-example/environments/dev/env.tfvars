domain = "dev.example.com"
