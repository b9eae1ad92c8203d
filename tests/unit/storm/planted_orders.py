"""The planted violations that what clients heard of one key gives away: no order explains them."""

from __future__ import annotations

from tests.unit.storm import planted, planted_runs, planted_tenants

UNORDERED = frozenset(
    {
        planted.double_write,
        planted.second_answer,
        planted.several_ids_for_one_key,
        planted.refused_by_nothing,
        planted.replay_byte,
        planted.replay_status,
        planted.replay_location,
        planted.replay_lost_header,
        planted.replay_of_unseen_first,
        planted.accepted_mismatch,
        planted.false_mismatch,
        planted_tenants.foreign_answer,
        planted_runs.replayed_before_it_was_sent,
        planted_runs.refused_before_another_body_was_sent,
    }
)
