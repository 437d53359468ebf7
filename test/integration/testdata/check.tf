# Fails as long as the world is old.

check "world" {
  assert {
    condition     = terraform_data.follower.output != "old"
    error_message = "The world is ${terraform_data.follower.output}."
  }

  data "terraform_remote_state" "world" {
    backend = "local"
    config  = { path = "${var.dir}/state" }
  }
}
