# Creates one resource, waits for the file "gate" to appear, and then fails to create
# another one until the file "mended" is there. It gives up when its directory is gone.

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

resource "terraform_data" "broken" {
  depends_on = [terraform_data.evidence]

  provisioner "local-exec" {
    command = "until [ -e '${var.dir}/gate' ] || [ ! -d '${var.dir}' ]; do sleep 0.1; done; test -e '${var.dir}/mended' || exit 7"
  }
}

output "greeting" {
  value = var.greeting
}
