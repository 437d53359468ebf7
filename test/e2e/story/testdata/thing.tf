# SPDX-FileCopyrightText: The provider-terraform Authors
#
# SPDX-License-Identifier: Apache-2.0

variable "url" {
  description = "The address of the thing."
  type        = string
}

# An apply creates the thing once, and a destroy destroys it once. The server counts both, and
# learns from which pod the request came.
resource "terraform_data" "thing" {
  input = var.url

  provisioner "local-exec" {
    command = "curl --fail --silent --show-error --request PUT '${self.input}'?by=$(uname --nodename)"
  }

  provisioner "local-exec" {
    when    = destroy
    command = "curl --fail --silent --show-error --request DELETE '${self.input}'?by=$(uname --nodename)"
  }
}

output "url" {
  value = terraform_data.thing.output
}
