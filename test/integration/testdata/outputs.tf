# Has an output of every type. The integer has more digits than a float64 can hold.
# The huge one has more than the API server can, so it is not for the status.

output "text" {
  value = "a \"quoted\" <word>"
}

output "integer" {
  value = 9007199254740993
}

output "fraction" {
  value = 1.5
}

output "flag" {
  value = true
}

output "list" {
  value = ["a", "b"]
}

output "object" {
  value = {
    name   = "n"
    nested = { deep = [1, null] }
  }
}

output "nothing" {
  value = null
}

output "huge" {
  value     = 12345678901234567890
  sensitive = true
}

output "password" {
  value     = "correct horse"
  sensitive = true
}
