import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { Section } from '../../ui/section.tsx'
import { demoQuery } from './queries.ts'
import { RemoveDemoButton } from './remove-demo.tsx'

/** The demo data of this or an earlier start. Absent without any. */
export function DemoSection() {
  const { data: demo } = useQuery(demoQuery(useApi()))
  if (!demo || demo.agents.length === 0) return null
  return (
    <Section
      title="Demo data"
      description={
        <>
          Agents of the demo with their runs and costs. They stay after a start without{' '}
          <code className="whitespace-nowrap">--demo</code>.
        </>
      }
    >
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-48 text-sm [overflow-wrap:anywhere]">{demo.agents.join(', ')}</p>
        <RemoveDemoButton agents={demo.agents} />
      </div>
    </Section>
  )
}
