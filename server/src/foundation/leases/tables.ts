export type LeaseTables = {
  leases: { name: string; holder: string; token: number; expires_at: string }
}
