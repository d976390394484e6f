import type { AgentDetails } from '@roost/contracts/agents/agent'
import { Banner } from '../../ui/banner.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Section } from '../../ui/section.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { AgentStatus } from '../agents/agent-status.tsx'

const isolationWords = {
  container: 'Container: its own file system, network, users and limits',
  sandbox: 'Sandbox: processes of this machine, kept apart',
  none: 'None: a process of this machine like any other',
} as const

export function ContainerSection({ agent }: { agent: AgentDetails }) {
  const { isolation, container_id: id, port, resources } = agent
  return (
    <Section
      title="Container"
      description="Where the agent lives. Its files are on a volume of their own and outlive it."
    >
      <KeyValues
        items={[
          { label: 'Status', value: <AgentStatus status={agent.status} /> },
          { label: 'Container', value: id && <ContainerId id={id} /> },
          { label: 'Image', value: agent.base_image_version },
          { label: 'CPU', value: resources.cpu === '1' ? '1 core' : `${resources.cpu} cores` },
          { label: 'Memory', value: `${resources.memory.replace(/g$/, '')} GB` },
          { label: 'SSH port', value: port === 0 ? 'None was free' : <span data-numeric>{port}</span> },
          { label: 'Isolation', value: isolationWords[isolation.level] },
          { label: 'Created', value: <RelativeTime at={agent.created} /> },
          { label: 'Owner', value: agent.owner },
        ]}
      />
      {isolation.weaker.length > 0 && (
        <Banner tone="warning" title="Weaker than a container">
          <ul className="list-disc pl-4">
            {isolation.weaker.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </Banner>
      )}
    </Section>
  )
}

function ContainerId({ id }: { id: string }) {
  return (
    <span className="flex items-center gap-1">
      <code className="text-xs" title={id}>
        {id.slice(0, 12)}
      </code>
      <CopyButton text={id} label="Copy container id" className="-my-1" />
    </span>
  )
}
