import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { LayoutTemplate } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Section } from '../../ui/section.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { TemplateWarnings } from '../templates/template-warnings.tsx'
import { infoQuery } from './queries.ts'
import { type TemplateFacts, templateFacts } from './template-facts.ts'

export function TemplateSection({ agent }: { agent: AgentDetails }) {
  return (
    <Section
      title="Template"
      description="The purpose of the agent, from the template.yaml file in its workspace or its original template."
    >
      <Template agent={agent} />
    </Section>
  )
}

function Template({ agent }: { agent: AgentDetails }) {
  const info = useQuery(infoQuery(useApi(), agent.name))
  if (!info.data) {
    return info.error ? (
      <ErrorState
        title="Could not read the template"
        error={info.error}
        onRetry={() => void info.refetch()}
      />
    ) : (
      <SkeletonText lines={4} label="Loading template" />
    )
  }
  const facts = templateFacts(info.data)
  if (agent.status === 'running' && info.data.has_template) return <Facts agent={agent} facts={facts} />
  return (
    <Card padded={false}>
      <EmptyState
        icon={<LayoutTemplate aria-hidden />}
        title={agent.template ?? 'Created without a template'}
        description={
          agent.status === 'running'
            ? 'Add a template.yaml file to the workspace to describe the purpose, credentials and schedules of the agent.'
            : 'Start the agent to view the template in its workspace.'
        }
      />
    </Card>
  )
}

function Facts({ agent, facts }: { agent: AgentDetails; facts: TemplateFacts }) {
  return (
    <Card className="flex flex-col gap-4">
      <TemplateWarnings warnings={facts.warnings} />
      <div>
        <h3 className="text-base font-semibold break-words">{facts.title ?? agent.name}</h3>
        {facts.tagline && <p className="mt-0.5 text-sm break-words text-muted">{facts.tagline}</p>}
        {facts.description && (
          <p className="mt-2 text-sm break-words whitespace-pre-line">{facts.description}</p>
        )}
      </div>
      <KeyValues
        items={[
          { label: 'Template', value: agent.template },
          facts.version !== null && { label: 'Version', value: facts.version },
          facts.author !== null && { label: 'Author', value: facts.author },
          facts.updated !== null && { label: 'Updated', value: facts.updated },
        ]}
      />
      {facts.lists.map(({ heading, items }) => (
        <div key={heading}>
          <h4 className="mb-1.5 text-xs font-medium text-muted">{heading}</h4>
          <ul className="flex flex-wrap gap-1.5">
            {[...new Set(items)].map((item) => (
              <li key={item} className="max-w-full">
                <Badge>{item}</Badge>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {facts.credentials.length > 0 && (
        <div>
          <h4 className="mb-1.5 text-xs font-medium text-muted">Required credentials</h4>
          <KeyValues
            items={facts.credentials.map(({ name, source }) => ({
              label: source,
              value: <code className="text-xs break-all">{name}</code>,
            }))}
          />
        </div>
      )}
    </Card>
  )
}
