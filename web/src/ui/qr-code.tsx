import { cx } from './class-names.ts'

export type QrCodeProps = {
  /** The picture. It is shown as an image, in which nothing runs and nothing is loaded. */
  svg: string
  label: string
  /** Its size. */
  className?: string
}

/** Dark on white in both themes, as cameras want it. */
export function QrCode({ svg, label, className }: QrCodeProps) {
  return (
    <img
      src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
      alt={label}
      className={cx('rounded-md border border-line bg-paper p-1', className)}
    />
  )
}
