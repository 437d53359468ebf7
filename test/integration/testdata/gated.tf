# The creation of its resource waits for the file "gate" to appear. It gives up when its
# directory is removed, because the test has ended.

variable "dir" {
  type = string
}

resource "terraform_data" "gated" {
  input = var.dir

  provisioner "local-exec" {
    command = "echo $$ >'${self.input}/pid'; echo created >>'${self.input}/done'; until [ -e '${self.input}/gate' ] || [ ! -d '${self.input}' ]; do sleep 0.1; done"
  }

  provisioner "local-exec" {
    when    = destroy
    command = "echo destroyed >>'${self.input}/done'"
  }
}

output "greeting" {
  value = "hello"
}
