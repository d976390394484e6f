import type { User } from '@roost/contracts/identity/users'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { BookOpen, CircleHelp, MessageSquare, Moon, Plus, SquareTerminal, Sun } from 'lucide-react'
import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { agentsQuery } from '../../features/agents/queries.ts'
import { useApi } from '../app-context.ts'
import { allPlaces } from '../navigation.ts'
import { chooseTheme } from '../theme.ts'
import { placeIcon } from './place-icons.ts'

export type PaletteProps = { me: User; open: boolean; onOpenChange(open: boolean): void }

export function PaletteDialog({ me, open, onOpenChange }: PaletteProps) {
  const navigate = useNavigate()
  const { data: agents } = useQuery(agentsQuery(useApi()))
  const run = (act: () => unknown) => () => {
    onOpenChange(false)
    act()
  }
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-overlay" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed inset-x-3 top-[12dvh] z-50 mx-auto max-w-xl overflow-hidden rounded-xl border border-line bg-raised text-ink shadow-xl"
        >
          <Dialog.Title className="sr-only">Search pages, agents and actions</Dialog.Title>
          <Command label="Search pages, agents and actions" loop>
            <Command.Input
              placeholder="Search or run a command…"
              className="h-12 w-full border-b border-line bg-transparent px-4 text-base outline-none placeholder:text-faint focus-visible:outline-none"
            />
            <Command.List className="max-h-[min(26rem,60dvh)] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-8 text-center text-muted text-sm">No results.</Command.Empty>
              <Group heading="Agents">
                {(agents ?? []).map(({ name, label }) => (
                  <Item
                    key={name}
                    value={`agent ${name}`}
                    keywords={label ? [label] : []}
                    icon={<SquareTerminal />}
                    onSelect={run(() => navigate({ to: '/agents/$name', params: { name } }))}
                  >
                    {label ?? name}
                    {label ? <span className="ml-2 text-faint">{name}</span> : null}
                  </Item>
                ))}
              </Group>
              <Group heading="Pages">
                {allPlaces(me).map((place) => {
                  const { label, to, search, keywords = [] } = place
                  const Icon = placeIcon(place)
                  return (
                    <Item
                      key={label}
                      value={`page ${label}`}
                      keywords={keywords}
                      icon={<Icon />}
                      onSelect={run(() => navigate({ to, search: search ?? {} }))}
                    >
                      {label}
                    </Item>
                  )
                })}
                <Item
                  value="page Guides"
                  keywords={['help', 'documentation', 'tutorial', 'how to']}
                  icon={<CircleHelp />}
                  onSelect={run(() => window.open('/help', '_blank', 'noopener'))}
                >
                  Guides
                </Item>
                <Item
                  value="page API reference"
                  icon={<BookOpen />}
                  onSelect={run(() => window.open('/docs', '_blank', 'noopener'))}
                >
                  API reference
                </Item>
              </Group>
              <Group heading="Actions">
                {me.role === 'creator' || me.role === 'admin' ? (
                  <Item
                    value="action create an agent"
                    keywords={['new', 'add']}
                    icon={<Plus />}
                    onSelect={run(() => navigate({ to: '/', search: { create: true } }))}
                  >
                    Create agent
                  </Item>
                ) : null}
                {(agents ?? []).map(({ name, status }) =>
                  status === 'running' ? (
                    <Item
                      key={name}
                      value={`action chat with ${name}`}
                      icon={<MessageSquare />}
                      onSelect={run(() =>
                        navigate({ to: '/agents/$name', params: { name }, search: { tab: 'chat' } }),
                      )}
                    >
                      Chat with {name}
                    </Item>
                  ) : null,
                )}
                <Item value="action light theme" icon={<Sun />} onSelect={run(() => chooseTheme('light'))}>
                  Light theme
                </Item>
                <Item value="action dark theme" icon={<Moon />} onSelect={run(() => chooseTheme('dark'))}>
                  Dark theme
                </Item>
              </Group>
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-faint [&_[cmdk-group-heading]]:text-xs"
    >
      {children}
    </Command.Group>
  )
}

type ItemProps = {
  value: string
  keywords?: string[]
  icon: ReactNode
  onSelect(): void
  children: ReactNode
}

function Item({ icon, children, ...item }: ItemProps) {
  return (
    <Command.Item
      {...item}
      className="flex h-9 cursor-default items-center gap-2.5 rounded-md px-2.5 text-sm data-[selected=true]:bg-hover"
    >
      <span aria-hidden className="text-muted [&_svg]:size-4">
        {icon}
      </span>
      <span className="min-w-0 truncate">{children}</span>
    </Command.Item>
  )
}
