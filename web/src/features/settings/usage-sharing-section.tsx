import {
  dismissUsageSharing,
  putUsageSharing,
  type UsageSharing,
} from '@roost/contracts/operations/usage-sharing'
import { useMutation, useQuery } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { partOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Switch } from '../../ui/switch.tsx'
import { toast } from '../../ui/toast.tsx'
import { usageSharingQuery } from './queries.ts'

/** Whether usage statistics may be shared, with the exact data. */
export function UsageSharingSection() {
  const sharing = useQuery(usageSharingQuery(useApp().api))
  return (
    <Section
      id="usage-sharing"
      title="Usage sharing"
      description="Anonymous statistics of this platform, without names or content. Off by default. This version sends them nowhere."
    >
      {sharing.isError && !sharing.data ? (
        <ErrorState error={sharing.error} onRetry={() => void sharing.refetch()} />
      ) : sharing.data ? (
        <Consent sharing={sharing.data} />
      ) : (
        <Skeleton className="h-24" />
      )}
    </Section>
  )
}

function Consent({ sharing }: { sharing: UsageSharing }) {
  const change = useChange()
  const dismiss = useDismiss()
  return (
    <>
      <Field label="Share usage statistics" hint="Shares only the data below." layout="row">
        <Switch checked={sharing.enabled} onCheckedChange={(isOn) => change.mutate(isOn)} />
      </Field>
      <CodeBlock code={JSON.stringify(sharing.preview, null, 2)} language="json" title="Data to be shared" />
      {sharing.consent_asked ? null : (
        <div>
          <Button pending={dismiss.isPending} onClick={() => dismiss.mutate()}>
            Keep off and do not ask again
          </Button>
        </div>
      )}
    </>
  )
}

/** Saved optimistically. */
function useChange() {
  const { api } = useApp()
  const { queryKey } = usageSharingQuery(api)
  return useOptimisticSave({
    queryKey,
    save: (enabled: boolean) => api.call(putUsageSharing, { body: { enabled } }),
    shows: (enabled) => [partOf<UsageSharing>(queryKey, { enabled })],
  })
}

function useDismiss() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: () => api.call(dismissUsageSharing, {}),
    onSuccess: () => queries.invalidateQueries({ queryKey: usageSharingQuery(api).queryKey }),
    onError: showFault,
  })
}

function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
