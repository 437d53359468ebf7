# Refers to a variable that is not declared.

output "nonsense" {
  value = var.undeclared
}
