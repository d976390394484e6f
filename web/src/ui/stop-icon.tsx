import { Square } from 'lucide-react'
import { cx } from './class-names.ts'

/** Filled, because an outlined square reads as an empty checkbox. */
export function StopIcon({ className }: { className?: string }) {
  return <Square aria-hidden className={cx('scale-80 fill-current', className)} />
}
