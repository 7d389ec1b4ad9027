resource "powerdns_zone" "lab" {
  name        = "lab.example.org."
  kind        = "Native"
  nameservers = ["ns1.lab.example.org."]
}

resource "powerdns_record" "wildcard" {
  zone    = powerdns_zone.lab.name
  name    = "*.lab.example.org."
  type    = "A"
  ttl     = 300
  records = ["10.0.3.2"]
}
