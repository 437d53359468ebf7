# Leaves a line in a file when its resource is created, and one when it is destroyed.

variable "dir" {
  type = string
}

variable "greeting" {
  type    = string
  default = "hello"
}

resource "terraform_data" "evidence" {
  input = var.dir

  provisioner "local-exec" {
    command = "echo created >>'${self.input}/done'"
  }

  provisioner "local-exec" {
    when    = destroy
    command = "echo destroyed >>'${self.input}/done'"
  }
}

output "greeting" {
  value = var.greeting
}
