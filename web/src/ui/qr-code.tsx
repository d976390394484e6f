import { cx } from './class-names.ts'

export type QrCodeProps = {
  /** The SVG. It is shown as an image, which runs no scripts and loads nothing. */
  svg: string
  label: string
  className?: string
}

/** Dark on white in both themes, as cameras expect. */
export function QrCode({ svg, label, className }: QrCodeProps) {
  return (
    <img
      src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
      alt={label}
      className={cx('rounded-md border border-line bg-paper p-1', className)}
    />
  )
}
