import { LoaderCircle } from 'lucide-react'
import { cx } from './class-names.ts'

/** Silent for screen readers: the parent sets `aria-busy` or a live text. */
export function Spinner({ className }: { className?: string }) {
  return <LoaderCircle aria-hidden className={cx('size-4 animate-spin', className)} />
}
