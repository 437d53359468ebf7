# Records its secrets when the file "gate" exists. It gives up when its directory is
# removed, because the test has ended.

variable "dir" {
  type = string
}

variable "file" {
  type = string
}

resource "terraform_data" "tenant" {
  provisioner "local-exec" {
    command = <<-EOT
      echo started >>'${var.dir}/done'
      until [ -e '${var.dir}/gate' ] || [ ! -d '${var.dir}' ]; do sleep 0.1; done
      echo "$TOKEN" "$(cat credentials.txt)" '${var.file}' "$(cat "$GIT_CRED_DIR/.git-credentials")" $(env | grep -o 'only-.*') >>'${var.dir}/done'
    EOT
  }
}
