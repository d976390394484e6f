import { z } from 'zod'

/** A disk quota as entered in forms; the API takes bytes. */
export const QuotaGigabytes = z
  .number({ error: 'Enter the quota in GB.' })
  .min(0, 'The quota must be 0 or more.')
  .max(900_000, 'The quota must be at most 900,000 GB.')
  .refine((gigabytes) => gigabytes === 0 || gigabytes >= 0.01, 'The quota must be 0 or at least 0.01 GB.')

const gigabyte = 1024 ** 3

export function quotaBytes(gigabytes: number): number {
  return Math.round(gigabytes * gigabyte)
}

/** With at most three decimals, because a quota set in bytes is rarely a round number of GB. */
export function quotaGigabytes(bytes: number): number {
  return Math.round((bytes / gigabyte) * 1000) / 1000
}
