# Creates the resources of evidence.tf, waits for the file "gate" to appear, and then fails
# to create another resource until the file "mended" exists. It gives up when its directory
# is removed.

resource "terraform_data" "broken" {
  depends_on = [terraform_data.evidence]

  provisioner "local-exec" {
    command = "until [ -e '${var.dir}/gate' ] || [ ! -d '${var.dir}' ]; do sleep 0.1; done; test -e '${var.dir}/mended' || exit 7"
  }
}
