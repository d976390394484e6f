import type { User } from '@roost/contracts/identity/users'
import { keyedPlaces, type Place, visibleTo } from '../navigation.ts'

const settingsPlaces: readonly Place[] = [
  { label: 'General settings', to: '/settings', search: { tab: 'general' }, isFor: 'admins' },
  { label: 'Integrations', to: '/settings', search: { tab: 'integrations' }, isFor: 'admins' },
  { label: 'Agent defaults', to: '/settings', search: { tab: 'agents' }, isFor: 'admins' },
  { label: 'Model prices', to: '/settings', search: { tab: 'prices' }, isFor: 'admins' },
  { label: 'Limits and retention', to: '/settings', search: { tab: 'retention' }, isFor: 'admins' },
  { label: 'Backups', to: '/settings', search: { tab: 'backups' }, isFor: 'admins' },
]

const morePlaces: readonly Place[] = [
  { label: 'Reports', to: '/inbox', search: { tab: 'reports' } },
  { label: 'Agent permissions', to: '/agents', search: { tab: 'permissions' } },
  { label: 'Resolved', to: '/inbox', search: { tab: 'resolved' } },
  { label: 'Templates', to: '/library', search: { tab: 'templates' } },
  { label: 'Skills', to: '/library', search: { tab: 'skills' } },
  { label: 'Shared with you', to: '/shared' },
  { label: 'Mobile overview', to: '/m' },
]

/** Every page that the palette lists for the user. */
export function allPlaces(me: Pick<User, 'role'>): Place[] {
  return visibleTo(me, [...keyedPlaces, ...morePlaces, ...settingsPlaces])
}

type Words = { also?: readonly string[]; keywords?: readonly string[] }

/** What people type for a page besides its label. */
export const placeWords: Readonly<Record<string, Words>> = {
  Home: { also: ['Dashboard', 'Start page'], keywords: ['overview', 'checklist', 'first steps'] },
  Agents: { also: ['Agent list', 'Fleet'], keywords: ['all agents', 'containers'] },
  Library: { keywords: ['templates', 'skills', 'sources', 'repositories'] },
  Workspace: { also: ['Conversations'], keywords: ['chat', 'shared', 'talk'] },
  Settings: { keywords: ['platform', 'administration'] },
  Inbox: {
    also: ['Operator queue'],
    keywords: ['questions', 'approvals', 'alerts', 'answer', 'waiting', 'tasks'],
  },
  Notifications: { keywords: ['bell', 'messages'] },
  Costs: { also: ['Spend', 'Budget'], keywords: ['money', 'forecast', 'usage', 'limits', 'dollars'] },
  'Fleet health': { keywords: ['alerts', 'restart', 'status', 'emergency'] },
  Runs: { keywords: ['tasks', 'history', 'failures', 'failed', 'cost', 'running', 'jobs'] },
  Schedules: { keywords: ['clock', 'webhook', 'recurring'] },
  Reports: { keywords: ['tables', 'figures', 'results'] },
  'Agent permissions': { keywords: ['matrix', 'may call', 'agent to agent'] },
  Resolved: { keywords: ['inbox', 'answered', 'dismissed', 'done'] },
  Templates: { keywords: ['library', 'gallery', 'blueprint'] },
  Skills: { keywords: ['library', 'sources', 'sync', 'assign'] },
  'Shared with you': { also: ['Shared conversations'], keywords: ['conversations', 'read'] },
  'Mobile overview': { keywords: ['phone', 'inbox', 'start', 'stop', 'agents'] },
  Account: {
    also: ['Profile', 'Password', 'Change password', '2FA', 'Second factor', 'Passkey', 'Own settings'],
    keywords: ['e-mail', 'git token', 'messages', 'recovery codes', 'me', 'push', 'devices'],
  },
  'General settings': { keywords: ['prompt', 'model', 'build', 'version', 'platform'] },
  People: {
    also: ['Users', 'Users and access', 'Roles', 'Invite user', 'New user', 'Allow list', 'Quota'],
    keywords: ['suspend', 'sign-in', 'whitelist', 'second factor', 'policy', 'team', 'invitation'],
  },
  Audit: { also: ['Audit log'], keywords: ['who did what', 'history', 'export', 'verify', 'trail'] },
  Integrations: {
    also: ['Provider keys', 'Anthropic key', 'OpenAI key', 'Gemini key'],
    keywords: ['anthropic', 'openai', 'google', 'gemini', 'api key', 'slack', 'provider'],
  },
  Keys: { also: ['MCP keys', 'API keys', 'New key', 'Access tokens'], keywords: ['tokens', 'command line'] },
  'Agent defaults': { keywords: ['ceiling', 'resources', 'private networks', 'disk quota'] },
  'Model prices': { keywords: ['cost', 'tokens', 'pricing'] },
  'Limits and retention': { keywords: ['delete old', 'storage', 'cleanup', 'spend'] },
  Backups: { also: ['Back up now', 'Restore'], keywords: ['archive', 'verify', 'snapshot'] },
}

/** What people type for a tab of an agent besides its label. */
export const tabWords: Readonly<Record<string, readonly string[]>> = {
  chat: ['talk', 'message', 'ask', 'session', 'conversation'],
  canvas: ['page', 'board'],
  executions: ['history', 'tasks', 'failed', 'transcripts'],
  overview: ['task', 'send', 'fan-out', 'figures', 'stats'],
  schedules: ['recurring', 'webhook'],
  loops: ['repeat'],
  events: ['subscriptions', 'trigger'],
  reminders: ['later'],
  files: ['workspace', 'folder', 'upload', 'download', 'editor'],
  terminal: ['ssh', 'command line'],
  git: ['repository', 'github', 'branch', 'commit', 'push', 'pull'],
  folders: ['mount', 'publish'],
  credentials: ['environment', 'env', 'api keys', 'tokens', 'passwords'],
  egress: ['firewall', 'allow list', 'hosts'],
  permissions: ['may call', 'agent to agent'],
  sharing: ['people', 'users', 'public link', 'invite'],
  payments: ['price', 'pay'],
  settings: ['model', 'resources', 'cpu', 'memory', 'instructions', 'limits', 'autonomy', 'spend'],
  logs: ['errors', 'container'],
  info: ['details', 'version', 'image', 'key', 'id'],
}
