import {
  type NotificationPriority,
  type NotificationStatus,
  type NotificationType,
  notificationPriorities,
  notificationStatuses,
} from '@roost/contracts/operations/notifications'
import type { Tone } from '../../ui/badge.tsx'

type Words = { label: string; tone: Tone }

export const typeWords: Record<NotificationType, Words> = {
  alert: { label: 'Alert', tone: 'warning' },
  info: { label: 'Info', tone: 'neutral' },
  status: { label: 'Status', tone: 'neutral' },
  completion: { label: 'Completed', tone: 'success' },
  question: { label: 'Question', tone: 'info' },
}

export const priorityWords: Record<NotificationPriority, Words> = {
  urgent: { label: 'Urgent', tone: 'danger' },
  high: { label: 'High', tone: 'warning' },
  normal: { label: 'Normal', tone: 'neutral' },
  low: { label: 'Low', tone: 'neutral' },
}

const statusWords: Record<NotificationStatus, string> = {
  pending: 'New',
  acknowledged: 'Read',
  dismissed: 'Dismissed',
}

export const statusChoices = [
  ...notificationStatuses.map((value) => ({ value, label: statusWords[value] })),
  { value: 'all', label: 'All' },
] as const

export const priorityChoices = [
  { value: 'all', label: 'All priorities' },
  ...[...notificationPriorities].reverse().map((value) => ({ value, label: priorityWords[value].label })),
] as const
