import type { User } from '@roost/contracts/identity/users'
import { useNavigate } from '@tanstack/react-router'
import { BookOpen, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useState } from 'react'
import { chooseTheme, chosenTheme, type Theme } from './theme.ts'
import { useSignOut } from './use-sign-out.ts'

const itemClass =
  'flex h-8 cursor-default select-none items-center gap-2.5 rounded-sm px-2 text-sm outline-none data-[highlighted]:bg-hover'

export const themes: { value: Theme; label: string; icon: typeof Sun }[] = [
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
  { value: 'system', label: 'System', icon: Monitor },
]

/** The signed-in user, the theme and the sign-out. */
export function UserMenu({ me, compact = false }: { me: User; compact?: boolean }) {
  const navigate = useNavigate()
  const signOut = useSignOut()
  const [theme, setTheme] = useState(chosenTheme)
  const name = me.name ?? me.email ?? me.username
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="flex h-9 min-w-0 items-center gap-2.5 rounded-md px-1.5 text-left text-sm hover:bg-hover data-[state=open]:bg-hover">
        <span className="sr-only">{compact ? `Account of ${name}` : 'Account of'}</span>
        <span
          aria-hidden
          className="grid size-6 shrink-0 place-items-center rounded-full bg-accent-soft font-medium text-accent text-xs uppercase"
        >
          {name.slice(0, 1)}
        </span>
        {compact ? null : (
          <span className="min-w-0 flex-1">
            <span className="block truncate leading-tight">{name}</span>
            <span className="block text-faint text-xs leading-tight">{me.role}</span>
          </span>
        )}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={compact ? 'end' : 'start'}
          sideOffset={6}
          className="z-50 min-w-52 rounded-lg border border-line bg-raised p-1 text-ink shadow-lg"
        >
          <DropdownMenu.Label className="px-2 py-1.5 text-muted text-xs">
            Signed in as <span className="font-medium text-ink">{me.email ?? me.username}</span>
          </DropdownMenu.Label>
          <DropdownMenu.Item className={itemClass} onSelect={() => void navigate({ to: '/account' })}>
            <UserRound aria-hidden className="size-4 text-muted" />
            Account
          </DropdownMenu.Item>
          <DropdownMenu.Item
            className={itemClass}
            onSelect={() => window.open('/docs', '_blank', 'noopener')}
          >
            <BookOpen aria-hidden className="size-4 text-muted" />
            API reference
          </DropdownMenu.Item>
          <DropdownMenu.Separator className="my-1 h-px bg-line" />
          <DropdownMenu.RadioGroup
            aria-label="Theme"
            value={theme}
            onValueChange={(value) => {
              const chosen = themes.find((each) => each.value === value)?.value ?? 'system'
              setTheme(chosen)
              chooseTheme(chosen)
            }}
          >
            {themes.map(({ value, label, icon: Icon }) => (
              <DropdownMenu.RadioItem
                key={value}
                value={value}
                className={`${itemClass} data-[state=checked]:font-medium`}
                onSelect={(event) => event.preventDefault()}
              >
                <Icon aria-hidden className="size-4 text-muted" />
                <span className="flex-1">{label}</span>
                <DropdownMenu.ItemIndicator className="text-accent text-xs">
                  chosen
                </DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          <DropdownMenu.Separator className="my-1 h-px bg-line" />
          <DropdownMenu.Item className={itemClass} onSelect={signOut}>
            <LogOut aria-hidden className="size-4 text-muted" />
            Sign out
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
