# Follows a file that changes without any change of the Workspace.

variable "dir" {
  type = string
}

resource "terraform_data" "follower" {
  input = file("${var.dir}/world")
}

output "world" {
  value = terraform_data.follower.output
}
