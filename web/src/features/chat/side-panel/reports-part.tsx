import { useState } from 'react'
import { ReportRows } from '../../reports/report-rows.tsx'
import { ReportView } from '../../reports/report-view.tsx'

/** The reports of the agent, or one of them. */
export function ReportsPart({ agentName }: { agentName: string }) {
  const [open, setOpen] = useState<string | null>(null)
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto p-4">
      {open === null ? (
        <ReportRows filter={{ agent: agentName }} onOpen={setOpen} />
      ) : (
        <ReportView key={open} id={open} onBack={() => setOpen(null)} />
      )}
    </div>
  )
}
