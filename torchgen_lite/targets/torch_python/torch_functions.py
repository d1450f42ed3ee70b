"""What a formula may call of PyTorch by its plain name: the public functions of the module `torch`, of release 2.13.

Generated code takes a name that no module of `formulas` and no operator of the package has for `torch.NAME`, and
looks it up when it is imported. `tests/torch_python/test_torch_functions.py` compares the names with PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchgen_lite.analysis.differentiability.facts import FUNCTIONS
from torchgen_lite.analysis.differentiability.typed import every_part
from torchgen_lite.analysis.finding import finding
from torchgen_lite.analysis.policy import Origin
from torchgen_lite.diagnostics import Diagnostic, did_you_mean
from torchgen_lite.schema.formula import Call, called_name
from torchgen_lite.targets.torch_python.model import Package

# What formulas may call that is not a function at run time, or one that each package brings.
_OWN = frozenset({"not_implemented", *FUNCTIONS})
TORCH_FUNCTIONS = frozenset("""
    abs abs_ absolute acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_max_pool1d add addbmm addcdiv addcmul
    addmm addmv addmv_ addr adjoint affine_grid_generator alias_copy all allclose alpha_dropout alpha_dropout_ amax
    amin aminmax angle any arange arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2
    arctan_ arctanh arctanh_ are_deterministic_algorithms_enabled argmax argmin argsort argwhere as_strided
    as_strided_ as_strided_copy as_strided_scatter as_tensor asarray asin asin_ asinh asinh_ atan atan2 atan_ atanh
    atanh_ atleast_1d atleast_2d atleast_3d autocast_decrement_nesting autocast_increment_nesting avg_pool1d baddbmm
    bartlett_window batch_norm batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
    batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats bernoulli
    bilinear binary_cross_entropy_with_logits bincount binomial bitwise_and bitwise_left_shift bitwise_not
    bitwise_or bitwise_right_shift bitwise_xor blackman_window block_diag bmm broadcast_shapes broadcast_tensors
    broadcast_to bucketize can_cast cartesian_prod cat ccol_indices_copy cdist ceil ceil_ celu celu_ chain_matmul
    channel_shuffle cholesky cholesky_inverse cholesky_solve choose_qparams_optimized chunk clamp clamp_ clamp_max
    clamp_max_ clamp_min clamp_min_ classproperty clear_autocast_cache clip clip_ clone col_indices_copy
    column_stack combinations compile compiled_with_cxx11_abi complex concat concatenate cond conj conj_physical
    conj_physical_ constant_pad_nd conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    convolution copysign corrcoef cos cos_ cosh cosh_ cosine_embedding_loss cosine_similarity count_nonzero cov
    cross crow_indices_copy ctc_loss cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution
    cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler
    cudnn_is_acceptable cummax cummin cumprod cumsum cumulative_trapezoid deg2rad deg2rad_ dequantize det detach
    detach_ detach_copy diag diag_embed diagflat diagonal diagonal_copy diagonal_scatter diff digamma dist div
    divide dot dropout dropout_ dsmm dsplit dstack eig einsum embedding embedding_bag embedding_renorm_ empty
    empty_like empty_permuted empty_quantized empty_strided eq equal erf erf_ erfc erfc_ erfinv exp exp2 exp2_ exp_
    expand_copy expm1 expm1_ eye fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
    fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
    fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16
    fbgemm_pack_quantized_matrix feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ fill
    fill_ fix fix_ flatten flip fliplr flipud float_power floor floor_ floor_divide fmax fmin fmod fork frac frac_
    frexp frobenius_norm from_dlpack from_file from_numpy frombuffer full full_like fused_moving_avg_obs_fake_quant
    gather gcd gcd_ ge geqrf ger get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype
    get_autocast_ipu_dtype get_autocast_xla_dtype get_default_device get_default_dtype get_deterministic_debug_mode
    get_device get_device_module get_file_path get_float32_matmul_precision get_num_interop_threads get_num_threads
    get_rng_state gradient greater greater_equal grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru
    gru_cell gt hamming_window hann_window hardshrink hash_tensor heaviside hinge_embedding_loss histc histogram
    histogramdd hsmm hsplit hspmm hstack hypot i0 i0_ igamma igammac imag import_ir_module
    import_ir_module_from_buffer index_add index_copy index_fill index_put index_put_ index_reduce index_select
    indices_copy init_num_threads initial_seed inner instance_norm int_repr inverse is_anomaly_check_nan_enabled
    is_anomaly_enabled is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled is_autocast_ipu_enabled
    is_autocast_xla_enabled is_complex is_conj is_deterministic_algorithms_warn_only_enabled is_distributed
    is_floating_point is_grad_enabled is_inference is_inference_mode_enabled is_neg is_nonzero is_same_size
    is_signed is_storage is_tensor is_vulkan_available is_warn_always_enabled isclose isfinite isin isinf isnan
    isneginf isposinf isreal istft kaiser_window kl_div kron kthvalue layer_norm lcm lcm_ ldexp ldexp_ le lerp less
    less_equal lgamma linspace load lobpcg log log10 log10_ log1p log1p_ log2 log2_ log_ log_softmax logaddexp
    logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logit_ logspace logsumexp
    lstm lstm_cell lstsq lt lu lu_solve lu_unpack manual_seed margin_ranking_loss masked_fill masked_scatter
    masked_select matmul matrix_exp matrix_power matrix_rank max max_pool1d max_pool1d_with_indices max_pool2d
    max_pool3d maximum mean median merge_type_from_type_comment meshgrid min minimum miopen_batch_norm
    miopen_convolution miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose
    miopen_ctc_loss miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d mkldnn_convolution
    mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer mm mode moveaxis movedim
    msort mul multinomial multiply mv mvlgamma nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow
    narrow_copy native_batch_norm native_channel_shuffle native_dropout native_group_norm native_layer_norm
    native_norm ne neg neg_ negative negative_ nextafter nonzero nonzero_static norm norm_except_dim normal
    not_equal nuclear_norm numel ones ones_like orgqr ormqr outer pairwise_distance parse_ir parse_schema
    parse_type_comment pca_lowrank pdist permute permute_copy pinverse pixel_shuffle pixel_unshuffle poisson
    poisson_nll_loss polar polygamma positive pow prelu prepare_multiprocessing_environment prod
    profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 promote_types put q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point qr quantile quantize_per_channel quantize_per_tensor
    quantize_per_tensor_dynamic quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm
    quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
    quantized_rnn_tanh_cell rad2deg rad2deg_ rand rand_like randint randint_like randn randn_like randperm range
    ravel real reciprocal reciprocal_ relu relu_ remainder renorm repeat_interleave reshape resize_as_
    resize_as_sparse_ resolve_conj resolve_neg result_type rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell
    roll rot90 round round_ row_indices_copy row_stack rrelu rrelu_ rsqrt rsqrt_ rsub saddmm save scalar_tensor
    scatter scatter_add scatter_reduce searchsorted seed segment_reduce select select_copy select_scatter selu selu_
    set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled
    set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled
    set_autocast_xla_dtype set_autocast_xla_enabled set_default_device set_default_dtype set_default_tensor_type
    set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_num_interop_threads
    set_num_threads set_printoptions set_rng_state set_warn_always sgn sigmoid sigmoid_ sign signbit sin sin_ sinc
    sinc_ sinh sinh_ slice_copy slice_inverse slice_scatter slogdet smm softmax solve sort sparse_bsc_tensor
    sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor split
    split_copy split_with_sizes split_with_sizes_copy spmm sqrt sqrt_ square square_ squeeze squeeze_copy sspaddmm
    stack std std_mean stft sub subtract sum svd svd_lowrank swapaxes swapdims sym_constrain_range
    sym_constrain_range_for_size sym_float sym_fresh_size sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum
    symeig t t_copy take take_along_dim tan tan_ tanh tanh_ tensor tensor_split tensordot thread_safe_generator
    threshold threshold_ tile to_dlpack topk trace transpose transpose_copy trapezoid trapz triangular_solve tril
    tril_indices triplet_margin_loss triu triu_indices true_divide trunc trunc_ typename unbind unbind_copy
    unflatten unfold_copy unify_type_list unique unique_consecutive unravel_index unsafe_chunk unsafe_split
    unsafe_split_with_sizes unsqueeze unsqueeze_copy use_deterministic_algorithms values_copy vander var var_mean
    vdot view_as_complex view_as_complex_copy view_as_real view_as_real_copy view_copy vmap vsplit vstack wait where
    while_loop xlogy xlogy_ zero_ zeros zeros_like
    """.split())


def unknown_functions(package: Package) -> Iterator[Diagnostic]:
    """TG341: calls in formulas that would be `torch.NAME`, where PyTorch has no such function."""
    index = package.modules.get("formulas")
    helpers = index.names() if index is not None else ()
    known = {*helpers, *(o.schema.base_name for o in package.own)}
    for operator in package.own:
        info = package.resolved.autograd[operator.name].info
        if info is None or not package.registration(operator, Origin.formulas):
            continue
        parts = [part.node for d in info.derivatives for part in every_part(d.tree)]
        for node in [node for node in parts if isinstance(node, Call)]:
            name = called_name(node)
            if name is None or name in known or name in TORCH_FUNCTIONS | _OWN:
                continue
            message = (
                f"the formula calls `{name}`, which neither a module of `formulas` nor PyTorch has"
            )
            hint = did_you_mean(name, known) or did_you_mean(name, TORCH_FUNCTIONS)
            hint = hint or "write it in a module of `formulas`"
            label = f"taken for `torch.{name}`"
            yield finding(operator.function, "TG341", message, node.span, label, hint)
