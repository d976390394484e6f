import { cx } from '../../ui/class-names.ts'

const colours: Record<string, string> = {
  GET: 'text-info',
  POST: 'text-success',
  PUT: 'text-warning',
  PATCH: 'text-warning',
  DELETE: 'text-danger',
}

/** The method of an operation; its colour repeats the word. */
export function MethodBadge({ method, className }: { method: string; className?: string }) {
  return (
    <span className={cx('shrink-0 font-mono font-semibold text-2xs', colours[method], className)}>
      {method}
    </span>
  )
}
