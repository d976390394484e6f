import { Bot, CircleCheck, LayoutGrid, List, Play, Plus, Settings, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { AgentAvatar } from '../ui/avatar.tsx'
import { Badge, StatusDot, type Tone } from '../ui/badge.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Card, CardHeader } from '../ui/card.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { Menu } from '../ui/menu.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Segmented } from '../ui/segmented.tsx'
import { StopIcon } from '../ui/stop-icon.tsx'
import { TabCount, TabLinks, Tabs, tabLinkClass } from '../ui/tabs.tsx'

const tones: Tone[] = ['neutral', 'accent', 'success', 'warning', 'danger', 'info']

export function ActionsPart() {
  const [view, setView] = useState<'list' | 'grid'>('list')
  const [tab, setTab] = useState('one')
  return (
    <section aria-label="Actions">
      <PageHeader
        back={<a href="#agents">Agents</a>}
        title="night-watch"
        aside={<StatusDot tone="success" label="Running" pulse />}
        description="Reads the logs of the night and writes what matters."
        actions={
          <>
            <Button icon={<Settings aria-hidden />}>Settings</Button>
            <Button variant="primary" icon={<Play aria-hidden />}>
              Start
            </Button>
            <Button icon={<StopIcon />}>Stop</Button>
            <Menu
              trigger={<IconButton variant="secondary" label="More" icon={<Plus aria-hidden />} />}
              items={[
                { heading: 'Agent' },
                { label: 'Duplicate', icon: <Bot aria-hidden />, shortcut: ['D'], onSelect: () => {} },
                { label: 'Show stopped', checked: true, onSelect: () => {} },
                'separator',
                { label: 'Delete…', icon: <Trash2 aria-hidden />, danger: true, onSelect: () => {} },
              ]}
            />
          </>
        }
      />
      <TabLinks label="Agent">
        <a href="#chat" aria-current="page" className={tabLinkClass}>
          Chat
        </a>
        <a href="#executions" className={tabLinkClass}>
          Executions <TabCount count={128} />
        </a>
        {['Schedules', 'Loops', 'Files', 'Terminal', 'Credentials', 'Skills', 'Sharing'].map((name) => (
          <a key={name} href={`#${name}`} className={tabLinkClass}>
            {name}
          </a>
        ))}
      </TabLinks>
      <div className="mt-6 grid gap-4 sm:grid-cols-2">
        <Card>
          <CardHeader title="Buttons" description="Four kinds, two sizes" icon={<Bot aria-hidden />} />
          <div className="flex flex-wrap gap-2">
            <Button variant="primary">Primary</Button>
            <Button>Secondary</Button>
            <Button variant="ghost">Ghost</Button>
            <Button variant="danger">Danger</Button>
            <Button disabled>Disabled</Button>
            <Button variant="primary" pending>
              Saving
            </Button>
            <Button size="sm">Small</Button>
            <Button size="sm" variant="primary" icon={<Plus aria-hidden />}>
              New
            </Button>
            <IconButton label="Delete" icon={<Trash2 aria-hidden />} />
            <CopyButton text="copied text" label="Copy id" />
            <CopyButton text="copied text" label="Copy link" withText />
          </div>
        </Card>
        <Card>
          <CardHeader title="Badges and states" actions={<Kbd keys={['Ctrl', 'K']} />} />
          <div className="mb-3 flex flex-wrap gap-2">
            {tones.map((tone) => (
              <Badge key={tone} tone={tone} icon={tone === 'success' && <CircleCheck aria-hidden />}>
                {tone}
              </Badge>
            ))}
          </div>
          <div className="mb-3 flex flex-wrap gap-x-4 gap-y-2 text-sm">
            {tones.map((tone) => (
              <StatusDot key={tone} tone={tone} label={tone} />
            ))}
          </div>
          <div className="flex items-center gap-2">
            {(['sm', 'md', 'lg', 'xl'] as const).map((size) => (
              <AgentAvatar key={size} name={`agent-${size}`} size={size} />
            ))}
            <AgentAvatar name="Ada Lovelace" shape="person" />
          </div>
        </Card>
        <Card className="sm:col-span-2">
          <Segmented
            label="View"
            value={view}
            onValueChange={setView}
            options={[
              { value: 'list', label: 'List', icon: <List aria-hidden /> },
              { value: 'grid', label: 'Grid', icon: <LayoutGrid aria-hidden /> },
            ]}
          />
          <Tabs
            label="Parts"
            className="mt-4"
            value={tab}
            onValueChange={setTab}
            tabs={[
              { value: 'one', label: 'Overview', content: <p>The first panel.</p> },
              { value: 'two', label: 'Runs', count: 3, content: <p>The second panel.</p> },
            ]}
          />
        </Card>
      </div>
    </section>
  )
}
