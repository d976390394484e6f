import { useNavigate } from '@tanstack/react-router'
import { CardHeader } from '../../ui/card.tsx'
import { ReportRows } from './report-rows.tsx'

/** The reports of one agent. */
export function AgentReportsTab({ name }: { name: string }) {
  const navigate = useNavigate()
  return (
    <section aria-label="Reports" className="flex min-w-0 flex-col gap-3">
      <CardHeader
        title="Reports"
        description="Reports of this agent. Reports cannot be changed."
        className="mb-0"
      />
      <ReportRows
        filter={{ agent: name }}
        onOpen={(report) => void navigate({ to: '/inbox', search: { tab: 'reports', report } })}
      />
    </section>
  )
}
