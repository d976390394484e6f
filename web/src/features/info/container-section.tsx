import type { AgentDetails } from '@roost/contracts/agents/agent'
import { Banner } from '../../ui/banner.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Section } from '../../ui/section.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { AgentStatus } from '../agents/agent-status.tsx'
import { DiskMeter } from '../agents/disk-meter.tsx'
import { Origin } from './origin.tsx'

const isolationWords = {
  own_kernel: 'Container with its own kernel: own file system, network, users and limits',
  container: 'Container: own file system, network, users and limits',
  sandbox: 'Sandbox: isolated processes of the host',
  none: 'None: ordinary processes of the host',
} as const

export function ContainerSection({ agent }: { agent: AgentDetails }) {
  const { isolation, container_id: id, port, resources } = agent
  return (
    <Section
      title="Container"
      description="The container of the agent. Its files are on a separate volume and outlive the container."
    >
      <KeyValues
        items={[
          { label: 'Status', value: <AgentStatus status={agent.status} /> },
          { label: 'Container', value: id && <ContainerId id={id} /> },
          { label: 'Image', value: agent.base_image_version },
          { label: 'CPU', value: resources.cpu === '1' ? '1 core' : `${resources.cpu} cores` },
          { label: 'Memory', value: `${resources.memory.replace(/g$/, '')} GB` },
          { label: 'Disk', value: <DiskMeter disk={agent.disk} /> },
          { label: 'SSH port', value: port === 0 ? 'none (no free port)' : <span data-numeric>{port}</span> },
          { label: 'Isolation', value: isolationWords[isolation.level] },
          { label: 'OCI runtime', value: isolation.runtime ?? 'none' },
          { label: 'Created', value: <RelativeTime at={agent.created} /> },
          { label: 'Owner', value: agent.owner },
          ...(agent.forked_from
            ? [{ label: 'Forked from', value: <Origin from={agent.forked_from} /> }]
            : []),
        ]}
      />
      {isolation.weaker.length > 0 && (
        <Banner tone="warning" title="Isolation has gaps">
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
      <CopyButton text={id} label="Copy container ID" className="-my-1" />
    </span>
  )
}
