import type { TemplateDetails } from '@roost/contracts/agents/templates'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { BadgeList } from '../../ui/badge-list.tsx'
import { Button } from '../../ui/button.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { CredentialNeeds } from './credential-needs.tsx'
import { EnvSkeleton } from './env-skeleton.tsx'
import { templateQuery } from './queries.ts'
import { TemplateSchedules } from './template-schedules.tsx'
import { TemplateWarnings } from './template-warnings.tsx'

type TemplateSheetProps = {
  /** Null keeps the sheet closed. */
  id: string | null
  onClose: () => void
  /** Null for users who cannot create agents. */
  onUse: ((id: string) => void) | null
}

/** One template: purpose, content and required credentials. */
export function TemplateSheet({ id, onClose, onUse }: TemplateSheetProps) {
  const api = useApi()
  const template = useQuery({ ...templateQuery(api, id ?? ''), enabled: id !== null })
  const { data } = template
  return (
    <Sheet
      open={id !== null}
      onOpenChange={onClose}
      size="lg"
      title={data?.display_name ?? id ?? ''}
      description={data?.tagline ?? undefined}
      footer={
        id !== null &&
        onUse && (
          <Button variant="primary" onClick={() => onUse(id)}>
            Create agent from this template
          </Button>
        )
      }
    >
      {data ? (
        <Details template={data} />
      ) : template.error ? (
        <ErrorState
          title="Could not read the template"
          error={template.error}
          onRetry={() => void template.refetch()}
        />
      ) : (
        <SkeletonText lines={6} label="Loading template" />
      )}
    </Sheet>
  )
}

function Details({ template }: { template: TemplateDetails }) {
  return (
    <div className="flex min-w-0 flex-col gap-5">
      <TemplateWarnings warnings={template.template_warnings} />
      <p className="whitespace-pre-line break-words text-sm">{template.description}</p>
      <KeyValues
        items={[
          { label: 'Name', value: <code className="break-all text-xs">{template.id}</code> },
          { label: 'Runtime', value: template.runtime },
          template.model !== null && { label: 'Model', value: template.model },
          { label: 'Resources', value: resourcesOf(template) },
          template.version !== null && { label: 'Version', value: template.version },
          template.author !== null && { label: 'Author', value: template.author },
          template.updated !== null && { label: 'Updated', value: template.updated },
        ]}
      />
      <Texts heading="Use cases" texts={template.use_cases} />
      <Texts heading="Capabilities" texts={template.capabilities} />
      <BadgeList heading="Skills" names={template.skills.map(({ name }) => name)} />
      <BadgeList heading="MCP servers" names={template.mcp_servers} />
      <BadgeList heading="Sub-agents" names={template.sub_agents} />
      <BadgeList heading="Commands" names={[...template.commands, ...template.slash_commands]} />
      <BadgeList heading="Tags" names={template.tags} />
      <TemplateSchedules schedules={template.schedules} />
      <CredentialNeeds template={template} />
      {template.required_credentials.length > 0 && <EnvSkeleton id={template.id} />}
    </div>
  )
}

function resourcesOf({ resources: { cpu, memory } }: TemplateDetails): string {
  return `${cpu ?? 'default'} CPU, ${memory ?? 'default'} memory`
}

function Texts({ heading, texts }: { heading: string; texts: readonly string[] }) {
  if (texts.length === 0) return null
  return (
    <div>
      <h3 className="mb-1 font-medium text-sm">{heading}</h3>
      <ul className="list-disc pl-4 text-sm marker:text-faint">
        {[...new Set(texts)].map((text) => (
          <li key={text} className="break-words">
            {text}
          </li>
        ))}
      </ul>
    </div>
  )
}
