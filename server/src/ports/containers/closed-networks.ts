/** Networks around a machine: local, private, shared, link-local (metadata), and reserved ones. */
export const closed4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
]
/** With IPv4 embedded in IPv6, which a gateway of the host's network might translate. */
export const closed6 = ['::/96', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', 'fc00::/7', 'fe80::/10']
