import { Avatar } from 'radix-ui'
import { cx } from './class-names.ts'
import { initialsOf, toneOf } from './initials.ts'

export type AgentAvatarProps = {
  name: string
  /** Null or absent: shows the initials on a colour derived from the name. */
  src?: string | null
  size?: 'sm' | 'md' | 'lg' | 'xl'
  /** Round for people, a rounded square for agents. */
  shape?: 'agent' | 'person'
}

/** Decorative: the name is always next to it as text. */
export function AgentAvatar({ name, src, size = 'md', shape = 'agent' }: AgentAvatarProps) {
  return (
    <Avatar.Root
      aria-hidden="true"
      className={cx(
        'inline-grid shrink-0 place-items-center overflow-hidden font-semibold select-none',
        shape === 'person' ? 'rounded-full' : size === 'xl' ? 'rounded-xl' : 'rounded-md',
        sizes[size],
        grounds[toneOf(name, grounds.length)],
      )}
    >
      {src && <Avatar.Image src={src} alt="" className="size-full object-cover" />}
      <Avatar.Fallback>{initialsOf(name)}</Avatar.Fallback>
    </Avatar.Root>
  )
}

const sizes = {
  sm: 'size-5 text-[0.5625rem]',
  md: 'size-7 text-2xs',
  lg: 'size-10 text-sm',
  xl: 'size-16 text-xl',
} as const

const grounds = [
  'bg-accent-soft text-accent',
  'bg-info-soft text-info',
  'bg-success-soft text-success',
  'bg-warning-soft text-warning',
  'bg-danger-soft text-danger',
]
