# Has a variable of every type, and shows their values.

variable "untyped" {}

variable "text" {
  type = string
}

variable "number" {
  type = number
}

variable "flag" {
  type = bool
}

variable "list" {
  type = list(string)
}

variable "object" {
  type = object({
    name  = string
    size  = number
    color = optional(string, "red")
  })
}

variable "anything" {
  type = any
}

variable "twice" {
  type = string
}

output "untyped" {
  value = var.untyped
}

output "text" {
  value = var.text
}

output "number" {
  value = var.number
}

output "flag" {
  value = var.flag
}

output "list" {
  value = var.list
}

output "object" {
  value = var.object
}

output "anything" {
  value = var.anything
}

output "twice" {
  value = var.twice
}
