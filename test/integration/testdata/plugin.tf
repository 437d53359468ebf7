# Needs a provider plugin.

terraform {
  required_providers {
    time = {
      source = "hashicorp/time"
    }
  }
}

resource "time_static" "birth" {
  rfc3339 = "2020-02-12T06:36:13Z"
}

output "year" {
  value = time_static.birth.year
}
