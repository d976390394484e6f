import { describeFault } from '../../lib/fault.ts'
import { toast } from '../../ui/toast.tsx'

/** Says in passing that something was refused, and why. */
export function complain(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
