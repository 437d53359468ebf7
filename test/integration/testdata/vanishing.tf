# Has a resource that every observation finds gone: it expires as soon as it is created.

terraform {
  required_providers {
    time = {
      source = "hashicorp/time"
    }
  }
}

resource "time_rotating" "vanishing" {
  rfc3339       = "2020-02-12T06:36:13Z"
  rotation_days = 1
}

resource "terraform_data" "lasting" {}
