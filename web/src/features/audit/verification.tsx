import { type AuditVerification, verifyAuditLog } from '@roost/contracts/foundation/audit'
import { useMutation } from '@tanstack/react-query'
import { ShieldCheck } from 'lucide-react'
import { formatNumber } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'

/** Verifies the hash chain and shows the result. */
export function useVerification() {
  const api = useApi()
  const verify = useMutation({ mutationFn: () => api.call(verifyAuditLog, { body: {} }) })
  const button = (
    <Button icon={<ShieldCheck aria-hidden />} pending={verify.isPending} onClick={() => verify.mutate()}>
      Verify log
    </Button>
  )
  return { ...verify, button }
}

export function VerificationResult({ verification }: { verification: ReturnType<typeof useVerification> }) {
  const { data, error, isPending, mutate, reset } = verification
  if (isPending) {
    return (
      <Banner tone="neutral" title="Verifying…">
        Roost recomputes the hash of every entry. This can take a while for a long log.
      </Banner>
    )
  }
  if (error) return <ErrorState title="Could not verify the log" error={error} onRetry={() => mutate()} />
  return data ? <Verdict result={data} onDismiss={reset} /> : null
}

function Verdict({ result, onDismiss }: { result: AuditVerification; onDismiss: () => void }) {
  if (result.status === 'empty_range') return <Banner title="The audit log is empty." onDismiss={onDismiss} />
  const checked = `${formatNumber(result.checked)} ${result.checked === 1 ? 'entry' : 'entries'} verified`
  if (result.status === 'verified') {
    return (
      <Banner tone="success" title="The audit log is intact." onDismiss={onDismiss}>
        {checked}. No entry was changed or removed.
      </Banner>
    )
  }
  return (
    <Banner tone="danger" title="The audit log was tampered with." onDismiss={onDismiss}>
      The first invalid entry is number {result.first_invalid_id ?? 'unknown'}: it was changed, removed or
      inserted. {checked}. Compare the log with a backup or an export, and review who had access to the
      database.
    </Banner>
  )
}
