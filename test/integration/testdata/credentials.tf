# Outputs the files beside it while it runs.

variable "dir" {
  type = string
}

resource "terraform_data" "mode" {
  provisioner "local-exec" {
    command = "stat -c %a credentials.txt >>'${var.dir}/done'"
  }
}

output "credentials" {
  value = file("credentials.txt")
}
