# Fails to create its resource until the file "mended" is there.

variable "dir" {
  type = string
}

resource "terraform_data" "broken" {
  provisioner "local-exec" {
    command = "test -e '${var.dir}/mended' || exit 7"
  }
}
