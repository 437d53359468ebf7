# The creation of its resource leaves a process behind, which has a session of its own and does not
# keep the output. The process names itself in the file "pid".

variable "dir" {
  type = string
}

resource "terraform_data" "daemon" {
  provisioner "local-exec" {
    command = "setsid nohup sleep 600 >/dev/null 2>&1 & echo $! >'${var.dir}/pid'; echo created >>'${var.dir}/done'"
  }
}
