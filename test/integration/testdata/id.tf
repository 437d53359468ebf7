# To be added to evidence.tf: shows that the resource was not replaced.

output "id" {
  value = terraform_data.evidence.id
}
