import { formatBytes } from '../lib/format.ts'

/** A size with its unit, exact on hover. Null (unknown) is shown as a dash. */
export function Bytes({ bytes, className }: { bytes: number | null | undefined; className?: string }) {
  if (bytes === null || bytes === undefined) return <span className="text-faint">–</span>
  return (
    <span data-numeric title={`${bytes.toLocaleString()} bytes`} className={className}>
      {formatBytes(bytes)}
    </span>
  )
}
