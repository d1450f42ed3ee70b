"""Calls of PyTorch's operators that no sample of `op_db` makes: see happened.py."""

from __future__ import annotations

from typing import Any

import torch


def made_calls() -> list[tuple[Any, ...]]:
    """An operator, its arguments and, where it has some, its options: on the CPU, which takes them."""
    aten = torch.ops.aten
    matrix = torch.tensor([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 4.0]])
    square = torch.eye(4)
    indices, values = torch.tensor([[0, 1], [2, 0]]), torch.tensor([1.0, 2.0])
    ends, columns = torch.tensor([0, 1, 2]), torch.tensor([0, 1])
    blocks = torch.ones(2, 1, 1)
    scales, zeros = torch.tensor([0.1, 0.1]), torch.tensor([0, 0])
    scale, zero = torch.tensor(0.1), torch.tensor(0)
    learned = torch.tensor([0.1]), torch.tensor([0.0])
    integers = matrix.to(torch.uint8)
    observed = (torch.tensor([1]), torch.tensor([1]), torch.tensor([0.0]), torch.tensor([1.0]))
    averaged = (
        matrix,
        *observed,
        torch.tensor([0.1]),
        torch.tensor([0], dtype=torch.int32),
        0.01,
        0,
        255,
        0,
    )
    mask = torch.tensor([[True, True, False], [True, False, False]])
    padded, sizes = torch.rand(2, 3, 4), torch.tensor([[2, 4], [1, 4]])
    buffer = (torch.ones(12), sizes, torch.tensor([[4, 1], [4, 1]]), torch.tensor([0, 8]))
    image, weight, bias = torch.rand(1, 2, 4, 4), torch.rand(3, 2, 3, 3), torch.rand(3)
    heads = torch.rand(1, 2, 4, 8)
    cpu = torch.device("cpu")
    state = torch.zeros(1, 4)
    recurrent = (
        torch.rand(2, 1, 3),
        torch.rand(16, 3),
        torch.rand(16, 4),
        torch.rand(16),
        torch.rand(16),
        state,
        state,
    )
    return [
        (aten._to_sparse.sparse_dim, (matrix, 1)),
        (aten._to_sparse.default, (matrix,)),
        (aten._to_sparse_csr.default, (matrix,)),
        (aten._to_sparse_csc.default, (matrix,)),
        (aten._to_sparse_bsr.default, (matrix, [1, 1])),
        (aten._to_sparse_bsc.default, (matrix, [1, 1])),
        (aten.to_mkldnn.default, (matrix,)),
        (aten.to_sparse.sparse_dim, (matrix, 1)),
        (aten.to_sparse.default, (matrix,)),
        (aten.to_sparse_csr.default, (matrix,)),
        (aten.to_sparse_csc.default, (matrix,)),
        (aten.to_sparse_bsr.default, (matrix, [1, 1])),
        (aten.to_sparse_bsc.default, (matrix, [1, 1])),
        (aten._spdiags.default, (torch.ones(1, 3), torch.tensor([0]), [3, 3])),
        (aten.quantize_per_tensor_dynamic.default, (matrix, torch.qint8, False)),
        (aten.quantize_per_tensor.default, (matrix, 0.1, 0, torch.qint8)),
        (aten.quantize_per_tensor.tensor_qparams, (matrix, scale, zero, torch.qint8)),
        (
            aten.quantize_per_tensor.tensors,
            ([matrix], torch.tensor([0.1]), torch.tensor([0]), torch.qint8),
        ),
        (aten.quantize_per_channel.default, (matrix, scales, zeros, 0, torch.qint8)),
        (aten.dequantize.self, (matrix,)),
        (aten._make_per_tensor_quantized_tensor.default, (integers, 0.1, 0)),
        (aten._make_per_channel_quantized_tensor.default, (integers, scales.double(), zeros, 0)),
        (
            aten._empty_affine_quantized.default,
            ([2, 3],),
            {"dtype": torch.quint8, "device": cpu, "scale": 0.1, "zero_point": 0},
        ),
        (
            aten._empty_per_channel_affine_quantized.default,
            ([2, 3],),
            {
                "scales": scales.double(),
                "zero_points": zeros,
                "axis": 0,
                "dtype": torch.quint8,
                "device": cpu,
            },
        ),
        (aten.fake_quantize_per_tensor_affine_cachemask.default, (matrix, 0.1, 0, 0, 255)),
        (aten.fake_quantize_per_tensor_affine.default, (matrix, 0.1, 0, 0, 255)),
        (aten.fake_quantize_per_tensor_affine.tensor_qparams, (matrix, scale, zero.int(), 0, 255)),
        (
            aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default,
            (matrix, scale, zero.int(), torch.tensor(1), 0, 255),
        ),
        (aten._fake_quantize_learnable_per_tensor_affine.default, (matrix, *learned, 0, 255)),
        (
            aten._fake_quantize_learnable_per_tensor_affine_backward.default,
            (matrix, matrix, *learned, 0, 255),
        ),
        (
            aten.fake_quantize_per_channel_affine_cachemask.default,
            (matrix, scales, zeros.int(), 0, 0, 255),
        ),
        (aten.fake_quantize_per_channel_affine.default, (matrix, scales, zeros.int(), 0, 0, 255)),
        (aten.fake_quantize_per_tensor_affine_cachemask_backward.default, (matrix, matrix > 0)),
        (aten.fake_quantize_per_channel_affine_cachemask_backward.default, (matrix, matrix > 0)),
        (
            aten._fake_quantize_learnable_per_channel_affine.default,
            (matrix, scales, zeros.float(), 0, 0, 255),
        ),
        (
            aten._fake_quantize_learnable_per_channel_affine_backward.default,
            (matrix, matrix, scales, zeros.float(), 0, 0, 255),
        ),
        (aten.fused_moving_avg_obs_fake_quant.default, averaged),
        (aten._fused_moving_avg_obs_fq_helper.default, averaged),
        (aten._convert_indices_from_coo_to_csr.default, (torch.tensor([0, 1]), 3)),
        (aten._convert_indices_from_csr_to_coo.default, (ends, columns)),
        (aten._validate_compressed_sparse_indices.default, (True, ends, columns, 2, 2, 2)),
        (aten._nested_tensor_from_mask.default, (padded, mask)),
        (aten._nested_tensor_from_mask_left_aligned.default, (padded, mask)),
        (aten._nested_from_padded.default, (padded, sizes)),
        (aten._nested_tensor_from_tensor_list.default, ([torch.ones(2), torch.ones(3)],)),
        (aten._nested_compute_contiguous_strides_offsets.default, (sizes,)),
        (aten._nested_view_from_buffer.default, buffer),
        (aten._nested_view_from_buffer_copy.default, buffer),
        (
            aten._jagged_to_padded_dense_forward.default,
            (torch.ones(5, 4), [torch.tensor([0, 2, 5])], [3]),
        ),
        (
            aten._padded_dense_to_jagged_forward.default,
            (torch.ones(2, 3, 4), [torch.tensor([0, 2, 5])], 5),
        ),
        (aten.mkldnn_convolution.default, (image, weight, bias, [0, 0], [1, 1], [1, 1], 1)),
        (aten._pin_memory.default, (matrix,)),
        (aten.pin_memory.default, (matrix,)),
        (aten._scaled_dot_product_fused_attention_overrideable.default, (heads, heads, heads)),
        (
            aten.convolution_overrideable.default,
            (image, weight, bias, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
        ),
        (aten.sparse_coo_tensor.indices, (indices, values)),
        (aten.sparse_coo_tensor.indices_size, (indices, values, [3, 3])),
        (aten.sparse_coo_tensor.size, ([3, 3],), {"device": cpu}),
        (aten._sparse_coo_tensor_unsafe.default, (indices, values, [3, 3])),
        (aten._validate_sparse_coo_tensor_args.default, (indices, values, [3, 3])),
        (aten.sparse_csr_tensor.crow_col_value_size, (ends, columns, values, [2, 2])),
        (aten.sparse_csr_tensor.crow_col_value, (ends, columns, values)),
        (aten.sparse_csc_tensor.ccol_row_value_size, (ends, columns, values, [2, 2])),
        (aten.sparse_csc_tensor.ccol_row_value, (ends, columns, values)),
        (aten.sparse_bsr_tensor.crow_col_value_size, (ends, columns, blocks, [2, 2])),
        (aten.sparse_bsr_tensor.crow_col_value, (ends, columns, blocks)),
        (aten.sparse_bsc_tensor.ccol_row_value_size, (ends, columns, blocks, [2, 2])),
        (aten.sparse_bsc_tensor.ccol_row_value, (ends, columns, blocks)),
        (
            aten.sparse_compressed_tensor.comp_plain_value_size,
            (ends, columns, values, [2, 2]),
            {"layout": torch.sparse_csr},
        ),
        (
            aten.sparse_compressed_tensor.comp_plain_value,
            (ends, columns, values),
            {"layout": torch.sparse_csr},
        ),
        (
            aten._sparse_compressed_tensor_unsafe.default,
            (ends, columns, values, [2, 2]),
            {"layout": torch.sparse_csr},
        ),
        (aten._sparse_csr_tensor_unsafe.default, (ends, columns, values, [2, 2])),
        (aten._sparse_csc_tensor_unsafe.default, (ends, columns, values, [2, 2])),
        (aten._sparse_bsr_tensor_unsafe.default, (ends, columns, blocks, [2, 2])),
        (aten._sparse_bsc_tensor_unsafe.default, (ends, columns, blocks, [2, 2])),
        (
            aten._sparse_compressed_tensor_with_dims.default,
            (0, 2, [2, 2], [], torch.int64),
            {"layout": torch.sparse_csr, "device": cpu},
        ),
        (aten._validate_sparse_csr_tensor_args.default, (ends, columns, values, [2, 2])),
        (aten._validate_sparse_csc_tensor_args.default, (ends, columns, values, [2, 2])),
        (aten._validate_sparse_bsr_tensor_args.default, (ends, columns, blocks, [2, 2])),
        (aten._validate_sparse_bsc_tensor_args.default, (ends, columns, blocks, [2, 2])),
        (
            aten._validate_sparse_compressed_tensor_args.default,
            (ends, columns, values, [2, 2], torch.sparse_csr),
        ),
        (
            aten.embedding_sparse_backward.default,
            (torch.ones(2, 4), torch.tensor([0, 1]), 5, -1, False),
        ),
        (
            aten._embedding_bag_sparse_backward.default,
            (
                torch.ones(1, 4),
                torch.tensor([0, 1]),
                torch.tensor([0]),
                torch.tensor([0, 0]),
                torch.tensor([2]),
                5,
                False,
                0,
                None,
            ),
        ),
        (aten._sparse_mm.default, (matrix, torch.ones(4, 2))),
        (aten._sparse_sum.default, (matrix,)),
        (aten.sparse_dim.default, (matrix,)),
        (
            aten._gather_sparse_backward.default,
            (matrix, 0, torch.zeros(1, 4, dtype=torch.int64), torch.ones(1, 4)),
        ),
        (aten._sparse_softmax.int, (matrix, 0)),
        (aten._sparse_addmm.default, (torch.ones(2, 2), matrix, torch.ones(4, 2))),
        (aten.nested_to_padded_tensor.default, (matrix, 0.0)),
        (aten.to_mkldnn_backward.default, (matrix, matrix)),
        (aten.fbgemm_pack_gemm_matrix_fp16.default, (square,)),
        (aten.fbgemm_linear_quantize_weight.default, (square,)),
        (aten._fused_sdp_choice.default, (heads, heads, heads)),
        (
            aten.mkldnn_rnn_layer.default,
            (*recurrent, False, [], 2, 4, 1, True, False, False, False),
        ),
    ]
