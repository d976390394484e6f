import type { CallReply } from '@roost/contracts/client'
import type { getFactorStatus } from '@roost/contracts/identity/second-factor'
import { Badge } from '../../ui/badge.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { RelativeTime } from '../../ui/time.tsx'

export function FactorFacts({ status }: { status: CallReply<typeof getFactorStatus> }) {
  const { enrolled, required, enrolled_at, recovery_codes_left } = status
  return (
    <KeyValues
      items={[
        {
          label: 'Status',
          value: <Badge tone={enrolled ? 'success' : 'neutral'}>{enrolled ? 'On' : 'Off'}</Badge>,
        },
        enrolled_at !== null && { label: 'Since', value: <RelativeTime at={enrolled_at} /> },
        enrolled && { label: 'Recovery codes', value: `${recovery_codes_left} left` },
        required && {
          label: 'Policy',
          value: 'Your role requires a second factor, so it cannot be turned off.',
        },
      ]}
    />
  )
}
