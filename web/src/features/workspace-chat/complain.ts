import { describeFault } from '../../lib/fault.ts'
import { toast } from '../../ui/toast.tsx'

/** Says what went wrong where no form is there to say it. */
export function complain(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
